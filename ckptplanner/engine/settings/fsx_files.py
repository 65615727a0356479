"""The plan's FSx for Lustre file system as a request for the AWS CLI, as CloudFormation and as Terraform in JSON.

fsx-create.json       aws fsx create-file-system --cli-input-json, with a README beside it, since JSON has no comments
fsx.template.json     CloudFormation; what each value comes from stands in Metadata; kept when the stack goes
fsx.tf.json           Terraform; comments stand under the key "//", which it leaves out; never destroyed
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from ckptplanner.engine.settings.doing import told
from ckptplanner.engine.settings.file_system import (
    VERSION,
    FileSystem,
    cautions,
    file_system_of,
    is_given,
    mount_of,
    remarks,
    tag_list,
    tags,
    token,
    why_none,
)
from ckptplanner.engine.settings.target import Settings, SettingsFile, Target, Written
from ckptplanner.engine.settings.writing import head, one_line, readme, shell_word
from ckptplanner.text import text

CLI_NAME, CLOUDFORMATION_NAME, TERRAFORM_NAME = "fsx-create.json", "fsx.template.json", "fsx.tf.json"
CLI_CHECKED = "request accepted by botocore 1.44.8 (ParamValidator, which knows names and types but not the sizes on sale)"
CLOUDFORMATION_CHECKED = "template accepted by cfn-lint 1.58.0, which does not know the sizes on sale"
TERRAFORM_CHECKED = (
    "read by terraform 1.11.4; arguments by the source of hashicorp/aws @06ee53d9, which is older than efa_enabled and "
    "metadata_configuration: not run against the provider"
)
RESOURCE = "checkpoints"
_DESCRIPTION_BYTES = 1024

Make = Callable[[Settings, FileSystem], tuple[SettingsFile, ...]]


def _target(make: Make, *names: str) -> Callable[[Settings], Written]:
    """A writer of files for a plan that has a file system to make; otherwise it says why not."""

    def write(settings: Settings) -> Written:
        found = file_system_of(settings.plan)
        if found is None:
            return Written((), (why_none(settings.plan),))
        findings = tuple(cautions(settings, found, *names))
        return Written(make(told(settings, findings), found), findings)

    return write


def _json(value: Mapping[str, Any], *, is_ascii: bool) -> str:
    """JSON as lines. The AWS CLI reads files in the encoding of the terminal, so what it reads is plain ASCII."""
    return json.dumps(value, indent=2, ensure_ascii=is_ascii) + "\n"


def _lustre(found: FileSystem) -> dict[str, Any]:
    """What API and CloudFormation name alike."""
    efa = {"EfaEnabled": True} if found.efa else {}
    return {
        "DeploymentType": "PERSISTENT_2",
        "PerUnitStorageThroughput": found.throughput_mb_per_s_per_tib,
        **efa,
        "DataCompressionType": "NONE",
        "MetadataConfiguration": {"Mode": "AUTOMATIC"},
    }


# the names of API and CloudFormation for what `remarks` says, and those of Terraform
_AWS_NAMES = {
    "capacity": "StorageCapacity",
    "throughput": "PerUnitStorageThroughput",
    "deployment": "DeploymentType",
    "efa": "EfaEnabled",
    "metadata": "MetadataConfiguration",
    "version": "FileSystemTypeVersion",
    "compression": "DataCompressionType",
    "network": "SubnetIds, SecurityGroupIds",
    "tags": "Tags",
    "price": "price",
}
_TERRAFORM_NAMES = {
    "capacity": "storage_capacity",
    "throughput": "per_unit_storage_throughput",
    "deployment": "deployment_type",
    "efa": "efa_enabled",
    "metadata": "metadata_configuration",
    "version": "file_system_type_version",
    "compression": "data_compression_type",
    "network": "subnet_ids, security_group_ids",
    "tags": "tags",
    "price": "price",
}


_TERRAFORM_REMARKS = {
    "deployment_type": "always written: without it Terraform makes a SCRATCH_1, which loses data with a server",
    "lifecycle": "a smaller capacity, or another throughput, would put an empty one in its place: prevent_destroy refuses",
}


def _group_words(found: FileSystem) -> str:
    own = ", and all traffic to and from itself, for EFA" if found.efa else ""
    return f"Lets Lustre pass between nodes and file system{own}"


def _named(lines: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
    return {names[name]: line for name, line in lines.items()}


# ---------------------------------------------------------------- AWS CLI


def request(settings: Settings, found: FileSystem) -> dict[str, Any]:
    """CreateFileSystem."""
    return {
        "ClientRequestToken": token(settings),
        "FileSystemType": "LUSTRE",
        "FileSystemTypeVersion": VERSION,
        "StorageType": "SSD",
        "StorageCapacity": found.capacity_gib,
        "SubnetIds": [settings.names.subnet_id],
        "SecurityGroupIds": [settings.names.security_group_id],
        "LustreConfiguration": _lustre(found),
        "Tags": tag_list(settings),
    }


def _cli(settings: Settings, found: FileSystem) -> tuple[SettingsFile, ...]:
    region = shell_word(settings.plan.scenario.prices.region)
    mount, _ = mount_of(settings.names.shared_folder)
    lines = (
        *head(settings, "FSx for Lustre: a request for aws fsx create-file-system (AWS CLI 2)", CLI_CHECKED),
        "",
        *(f"{name}: {line}" for name, line in _named(remarks(settings, found), _AWS_NAMES).items()),
        "ClientRequestToken: from the plan's id. The same request twice makes one file system; change it with the rest.",
        "",
        "Before: replace the ids of subnet and security group. Billing begins when the file system is created.",
        f"  aws fsx create-file-system --region {region} --cli-input-json file://{CLI_NAME}",
        "After, on every node, with the names that the answer gives (DNSName, LustreConfiguration.MountName):",
        f"  sudo mkdir -p {shell_word(mount)}",
        f"  sudo mount -t lustre -o relatime,flock DNSName@tcp:/MountName {shell_word(mount)}",
        *(
            ("Nodes reach it over EFA only once their Lustre network is set up for EFA (user guide, EFA clients).",)
            if found.efa
            else ()
        ),
    )
    return (SettingsFile(CLI_NAME, "json", _json(request(settings, found), is_ascii=True)), readme(CLI_NAME, lines))


# ---------------------------------------------------------------- CloudFormation


def template(settings: Settings, found: FileSystem) -> dict[str, Any]:
    """A template with the file system alone: it stays when the stack is deleted or would replace it."""
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": _description(settings),
        "Metadata": {
            "ckptplanner": {
                "Plan": [one_line(line) for line in head(settings, "FSx for Lustre: CloudFormation", CLOUDFORMATION_CHECKED)],
                "Before": "Billing begins when the stack is created.",
            }
        },
        "Parameters": {
            "SubnetId": _parameter(settings, "subnet_id", "AWS::EC2::Subnet::Id", "In the zone of the nodes"),
            "SecurityGroupId": _parameter(
                settings, "security_group_id", "AWS::EC2::SecurityGroup::Id",
                _group_words(found),
            ),
        },
        "Resources": {
            "CheckpointFs": {
                "Type": "AWS::FSx::FileSystem",
                "DeletionPolicy": "Retain",
                "UpdateReplacePolicy": "Retain",
                "Metadata": {"ckptplanner": _named(remarks(settings, found), _AWS_NAMES)},
                "Properties": {
                    "FileSystemType": "LUSTRE",
                    "FileSystemTypeVersion": VERSION,
                    "StorageType": "SSD",
                    "StorageCapacity": found.capacity_gib,
                    "SubnetIds": [{"Ref": "SubnetId"}],
                    "SecurityGroupIds": [{"Ref": "SecurityGroupId"}],
                    "LustreConfiguration": _lustre(found),
                    "Tags": tag_list(settings),
                },
            }
        },
        "Outputs": {
            "FileSystemId": {"Value": {"Ref": "CheckpointFs"}},
            "MountName": {"Value": {"Fn::GetAtt": ["CheckpointFs", "LustreMountName"]}},
        },
    }  # fmt: skip


def _description(settings: Settings) -> str:
    words = one_line(f"FSx for Lustre of plan {settings.named.name!r}, id {settings.plan_id}")
    return words.encode()[:_DESCRIPTION_BYTES].decode(errors="ignore")


def _parameter(settings: Settings, name: str, kind: str, words: str) -> dict[str, str]:
    default = {"Default": str(getattr(settings.names, name))} if is_given(settings, name) else {}
    return {"Type": kind, "Description": words, **default}


def _cloudformation(settings: Settings, found: FileSystem) -> tuple[SettingsFile, ...]:
    return (SettingsFile(CLOUDFORMATION_NAME, "json", _json(template(settings, found), is_ascii=True)),)


# ---------------------------------------------------------------- Terraform


def module(settings: Settings, found: FileSystem) -> dict[str, Any]:
    """A module that makes the file system: no provider and no version in it, so that it can be put into another."""
    efa = {"efa_enabled": True} if found.efa else {}
    return {
        "//": [
            *map(one_line, head(settings, "FSx for Lustre: Terraform in JSON, for hashicorp/aws", TERRAFORM_CHECKED)),
            "efa_enabled needs a provider newer than 2024-11-27, when EFA for FSx was announced.",
            "Billing begins when it is applied.",
        ],
        "variable": {
            "checkpoint_subnet_id": _variable(settings, "subnet_id", "A subnet in the zone of the nodes"),
            "checkpoint_security_group_id": _variable(
                settings, "security_group_id",
                _group_words(found),
            ),
        },
        "resource": {
            "aws_fsx_lustre_file_system": {
                RESOURCE: {
                    "//": _named(remarks(settings, found), _TERRAFORM_NAMES) | _TERRAFORM_REMARKS,
                    "deployment_type": "PERSISTENT_2",
                    "storage_type": "SSD",
                    "storage_capacity": found.capacity_gib,
                    "per_unit_storage_throughput": found.throughput_mb_per_s_per_tib,
                    **efa,
                    "file_system_type_version": VERSION,
                    "data_compression_type": "NONE",
                    "subnet_ids": ["${var.checkpoint_subnet_id}"],
                    "security_group_ids": ["${var.checkpoint_security_group_id}"],
                    "metadata_configuration": [{"mode": "AUTOMATIC"}],
                    "tags": tags(settings),
                    "lifecycle": {"prevent_destroy": True},
                }
            }
        },
        "output": {
            "checkpoint_file_system_id": {"value": f"${{aws_fsx_lustre_file_system.{RESOURCE}.id}}"},
            "checkpoint_mount_name": {"value": f"${{aws_fsx_lustre_file_system.{RESOURCE}.mount_name}}"},
        },
    }  # fmt: skip


def _variable(settings: Settings, name: str, words: str) -> dict[str, str]:
    default = {"default": str(getattr(settings.names, name))} if is_given(settings, name) else {}
    return {"type": "string", "description": words, **default}


def _terraform(settings: Settings, found: FileSystem) -> tuple[SettingsFile, ...]:
    return (SettingsFile(TERRAFORM_NAME, "json", _json(module(settings, found), is_ascii=False)),)


TARGETS: tuple[Target, ...] = (
    Target("fsx-cli", text("FSx for Lustre (AWS CLI)"), "AWS CLI 2, FSx API 2018-03-01", CLI_CHECKED, "storage",
           _target(_cli, "subnet_id", "security_group_id")),
    Target("fsx-cloudformation", text("FSx for Lustre (CloudFormation)"), "template 2010-09-09", CLOUDFORMATION_CHECKED,
           "storage", _target(_cloudformation)),
    Target("fsx-terraform", text("FSx for Lustre (Terraform)"), "Terraform 1, hashicorp/aws 6", TERRAFORM_CHECKED, "storage",
           _target(_terraform)),
)  # fmt: skip
