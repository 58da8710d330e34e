"""Nix: skeleton, outline, digest and picked symbols, text in and text out."""

import pytest

from tests.viewing import check_skeleton, masked_of, outline_of, summary_of

SAMPLE = """\
# A service.
{ config, lib, pkgs, ... }@args:

with lib;

let
  inherit (lib) types;
  cfg = config.services.web;
  join = first: second: { path = first + second; };
  label = name: "${name} = { }";
in
{
  imports = [ ./a.nix <nixpkgs/b> ];

  options.services.web = {
    enable = mkEnableOption "web";
    port = mkOption {
      type = types.port;
      default = 80;
    };
  };

  config = mkIf cfg.enable {
    systemd.services.web = rec {
      script = ''
        exec web
      '';
      after = [ "network.target" ];
    };
  };

  meta.version = 3;
  "quoted name" = ./file;
}
"""

OUTLINE = """\
8-8    cfg: expression
9-9    join: function
10-10  label: function
13-13  imports: array (2 items)
15-21  options.services.web: set (2 keys, 7 lines)
16-16    enable: expression
17-20    port: expression (4 lines)
23-30  config: expression (8 lines)
24-29    systemd.services.web: set (2 keys, 6 lines)
25-27      script: string (3 lines)
28-28      after: array (1 item)
32-32  meta.version: number
33-33  "quoted name": path
"""

SUMMARY = """\
nix, 34 lines
A service.
imports: ./a.nix, <nixpkgs/b>
cfg: expression
join: function
label: function
imports: array (2 items)
options.services.web: set (2 keys, 7 lines)
  enable: expression
  port: expression (4 lines)
config: expression (8 lines)
  systemd.services.web: set (2 keys, 6 lines)
    script: string (3 lines)
    after: array (1 item)
meta.version: number
"quoted name": path
"""


def test_outline_and_digest() -> None:
    """The outline has a row per definition, nested; the digest names what the file is made of (M-32, M-34)."""
    assert outline_of("a.nix", SAMPLE) == OUTLINE
    assert summary_of("a.nix", SAMPLE) + "\n" == SUMMARY


def test_skeleton_invariants() -> None:
    """The skeleton parses, is its own skeleton, is no longer than the file and maps to its lines (M-33)."""
    check_skeleton("a.nix", SAMPLE)


@pytest.mark.parametrize(
    ("mask", "text"),
    [
        ({"cfg": "def"}, "cfg = config.services.web;"),
        (
            {"port": "def"},
            "port = mkOption {\n      type = types.port;\n      default = 80;\n    };",
        ),
    ],
)
def test_masks(mask: dict[str, str], text: str) -> None:
    """Symbols are picked whole or by signature, by name or path (M-35, M-X15)."""
    assert masked_of("a.nix", SAMPLE, mask) == text
