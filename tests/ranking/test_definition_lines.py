"""Names of definitions by their first line."""

import time

import pytest

from aggregate.ranking import definition_name


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("    async def send(self, request):", "send"),
        ("class Session(Base):", "Session"),
        ("func (c *Cart) Total(i int) int {", "Total"),
        ("func New[T any](x T) *Cart {", "New"),
        ("type Cart struct{ items []int }", "Cart"),
        ("pub fn parse<'a>(input: &'a str) -> Cart {", "parse"),
        ("impl<T> Display for Cart<T> {", "Cart"),
        ("impl Cart {", "Cart"),
        ("pub(crate) struct Cart {", "Cart"),
        ("export default async function load(x) {", "load"),
        ("export const load = (x) => {", "load"),
        ("const total = useMemo(", "total"),
        ("  public static int total(int a, int b) {", "total"),
        ("public abstract class Cart extends Base {", "Cart"),
        ("int main(void)", "main"),
        ("static struct cart *cart_new(size_t n)", "cart_new"),
        ("Cart::Cart(int n) : n(n)", "Cart.Cart"),
        ("bool ns::Cart::operator()(int a) const", "ns.Cart.operator"),
        ("def self.total(items)", "total"),
        ("module Shop", "Shop"),
        ("  def empty?", "empty?"),
        ("public function total(array $items): int", "total"),
        ("defmodule Shop.Cart do", "Shop.Cart"),
        ("## How to install", "How to install"),
        ("TIMEOUT: Final = 3", "TIMEOUT"),
        ("fun total(items: List<Item>) =", "total"),
        ("if (x) {", ""),
        ("", ""),
        ("}", ""),
    ],
)
def test_the_name_that_a_line_defines(line: str, name: str) -> None:
    """A line gives the name that it defines, in any language (rule T-2)."""
    assert definition_name(line) == name


@pytest.mark.parametrize(
    "part", ["a", "a::", "a<", "(", "impl<", "impl ", "class ", "a ", "=", "a:", "::~"]
)
def test_no_line_takes_for_ever(part: str) -> None:
    """A long line is parsed quickly (rule T-5)."""
    begun = time.process_time()
    definition_name(part * 100_000)
    assert time.process_time() - begun < 0.1
