"""Solidity: skeleton, outline, digest and picked symbols, text in and text out."""

import pytest

from tests.viewing import check_skeleton, masked_of, outline_of, skeleton_of, summary_of

SAMPLE = """\
// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;

import "./Base.sol";
import {Math as M} from "./Math.sol";

uint256 constant TOP = 3;
type Price is uint128;
error Unauthorized(address who);

/// @notice A token.
abstract contract Token is Base, Ownable(msg.sender) {
    using M for uint256;

    uint256 public constant MAX = 10;
    mapping(address => uint256) public balances;

    event Sent(address indexed to, uint256 value);

    struct Part { uint256 share; }

    enum Kind { Small, Large }

    modifier onlyOwner() {
        require(msg.sender == owner, "}");
        _;
    }

    constructor(string memory name) Base(name) {
        balances[msg.sender] = MAX;
    }

    /// @dev Sends.
    function send(
        address to, // whom
        uint256 value
    ) public virtual onlyOwner returns (bool) {
        balances[to] += value;
        return true;
    }

    function count() external view virtual returns (uint256);

    receive() external payable { balances[msg.sender] += msg.value; }
}

interface Sender {
    function send(address to) external;
}

library Add {
    function add(uint256 a, uint256 b) internal pure returns (uint256) {
        assembly { let x := 1 }
        return a + b;
    }
}
"""

SKELETON = """\
// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;

import "./Base.sol";
import {Math as M} from "./Math.sol";

uint256 constant TOP = 3;
type Price is uint128;
error Unauthorized(address who);

/// @notice A token.
abstract contract Token is Base, Ownable(msg.sender) {
    using M for uint256;

    uint256 public constant MAX = 10;
    mapping(address => uint256) public balances;

    event Sent(address indexed to, uint256 value);

    struct Part { uint256 share; }

    enum Kind { Small, Large }

    modifier onlyOwner() { /* ... */ }

    constructor(string memory name) Base(name) { /* ... */ }

    /// @dev Sends.
    function send(
        address to, // whom
        uint256 value
    ) public virtual onlyOwner returns (bool) { /* ... */ }

    function count() external view virtual returns (uint256);

    receive() external payable { /* ... */ }
}

interface Sender {
    function send(address to) external;
}

library Add {
    function add(uint256 a, uint256 b) internal pure returns (uint256) { /* ... */ }
}
"""

OUTLINE = """\
8-8    type Price is uint128
9-9    error Unauthorized(address who)
12-45  abstract contract Token is Base, Ownable(msg.sender)
18-18    event Sent(address indexed to, uint256 value)
20-20    struct Part
22-22    enum Kind
24-27    modifier onlyOwner()
29-31    constructor(string memory name) Base(name)
34-40    function send(address to, uint256 value) public virtual onlyOwner returns (bool)
42-42    function count() external view virtual returns (uint256)
44-44    receive() external payable
47-49  interface Sender
48-48    function send(address to) external
51-56  library Add
52-55    function add(uint256 a, uint256 b) internal pure returns (uint256)
"""

SUMMARY = """\
solidity, 56 lines, 1 type, 1 error, 1 contract, 1 event, 1 struct, 1 enum, 1 modifier, 1 constructor, 5 functions, 1 interface, 1 library
imports: "./Base.sol", "./Math.sol"
constants: TOP, MAX
abstract contract Token is Base, Ownable(msg.sender): Sent, onlyOwner, constructor, send, count, receive
  struct Part
  enum Kind
interface Sender: send
library Add: add
types: Price
errors: Unauthorized
"""


def test_only_bodies_are_cut() -> None:
    """The skeleton is the file without its bodies, byte for byte (M-33)."""
    assert skeleton_of("a.sol", SAMPLE) == SKELETON


def test_outline_and_digest() -> None:
    """The outline has a row per definition, nested; the digest names what the file is made of (M-32, M-34)."""
    assert outline_of("a.sol", SAMPLE) == OUTLINE
    assert summary_of("a.sol", SAMPLE) + "\n" == SUMMARY


def test_skeleton_invariants() -> None:
    """The skeleton parses, is its own skeleton, is no longer than the file and maps to its lines (M-33)."""
    check_skeleton("a.sol", SAMPLE)


@pytest.mark.parametrize(
    ("mask", "text"),
    [
        (
            {"Token.send": "sig"},
            "function send(\n        address to, // whom\n        uint256 value\n    ) public virtual onlyOwner returns (bool)",
        ),
        (
            {"Kind": "def", "receive": "def"},
            "enum Kind { Small, Large }\n\nreceive() external payable { balances[msg.sender] += msg.value; }",
        ),
    ],
)
def test_masks(mask: dict[str, str], text: str) -> None:
    """Symbols are picked whole or by signature, by name or path (M-35, M-X15)."""
    assert masked_of("a.sol", SAMPLE, mask) == text
