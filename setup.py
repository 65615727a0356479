"""Puts resources/ (fonts, icons, examples) into the package of a wheel; everything else is in pyproject.toml."""

from pathlib import Path
from shutil import copytree

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithResources(build_py):
    """A wheel holds resources/ as ckptplanner/resources/, where ui/assets.py looks first; a checkout is used as it lies."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            copytree("resources", Path(self.build_lib, "ckptplanner", "resources"), dirs_exist_ok=True)


setup(cmdclass={"build_py": BuildWithResources})
