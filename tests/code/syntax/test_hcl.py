"""HCL: skeleton, outline, digest and picked symbols, text in and text out."""

import pytest

from tests.viewing import check_skeleton, masked_of, outline_of, summary_of

SAMPLE = """\
# The network.
terraform {
  backend "s3" { bucket = "state" }
}

variable "region" {
  type    = string
  default = "eu"
}

locals {
  name = "a { b"
  tags = {
    team = "one"
  }
  zones = [for z in var.zones : z]
  sizes = [1, 2]
}

data "aws_ami" "image" {
  most_recent = true
}

resource "aws_vpc" "this" {
  count = local.name == "" ? 0 : 1

  dynamic "ingress" {
    for_each = local.sizes
    content { port = ingress.value }
  }
}

module "vpc" {
  source = "./vpc"
}

inputs = {
  a = 1
}
count = 2
on    = true
text  = "a ${local.name}"
"""

OUTLINE = """\
2-4    terraform
3-3      backend "s3"
6-9    variable "region"
11-18  locals
12-12    name: string
13-15    tags: object (3 lines)
16-16    zones: expression
17-17    sizes: array
20-22  data "aws_ami" "image"
24-31  resource "aws_vpc" "this"
27-30    dynamic "ingress"
29-29      content
33-35  module "vpc"
37-39  inputs: object (3 lines)
40-40  count: number
41-41  on: boolean
42-42  text: string
"""

SUMMARY = """\
hcl, 42 lines
The network.
imports: ./vpc
terraform
  backend "s3"
variable "region"
locals
  name: string
  tags: object (3 lines)
  zones: expression
  sizes: array
data "aws_ami" "image"
resource "aws_vpc" "this"
  dynamic "ingress"
    content
module "vpc"
inputs: object (3 lines)
count: number
on: boolean
text: string
"""


def test_outline_and_digest() -> None:
    """The outline has a row per definition, nested; the digest names what the file is made of (M-32, M-34)."""
    assert outline_of("a.tf", SAMPLE) == OUTLINE
    assert summary_of("a.tf", SAMPLE) + "\n" == SUMMARY


def test_skeleton_invariants() -> None:
    """The skeleton parses, is its own skeleton, is no longer than the file and maps to its lines (M-33)."""
    check_skeleton("a.tf", SAMPLE)


@pytest.mark.parametrize(
    ("mask", "text"),
    [
        ({"aws_vpc.this": "sig"}, 'resource "aws_vpc" "this"'),
        ({"module.vpc": "def"}, 'module "vpc" {\n  source = "./vpc"\n}'),
        ({"tags": "def"}, 'tags = {\n    team = "one"\n  }'),
    ],
)
def test_masks(mask: dict[str, str], text: str) -> None:
    """Symbols are picked whole or by signature, by name or path (M-35, M-X15)."""
    assert masked_of("a.tf", SAMPLE, mask) == text
