"""`python -m ckptplanner` is the same as the command `ckptplanner`."""

import sys

if __name__ == "__main__":
    if sys.argv[1:2] == ["--read-checkpoint-metadata"]:  # the child of data/readers/dcp_metadata.py: nothing else is loaded
        from ckptplanner.data.readers.dcp_child import main as read_metadata

        sys.exit(read_metadata(sys.argv[2:]))
    from ckptplanner.cli import main

    sys.exit(main())
