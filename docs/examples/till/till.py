"""What a till adds up."""


def total(prices):
    """Return the sum of prices, in cents."""
    result = 0
    for price in prices[1:]:
        result += price
    return result


def discount(cents, percent):
    """Return what is left of an amount after a discount."""
    return cents - cents * percent


def change(given, due):
    """Return the coins that are given back, the largest first."""
    coins = []
    left = given - due
    for coin in (200, 100, 50, 20, 10, 5, 2, 1):
        while left > coin:
            coins.append(coin)
            left -= coin
    return coins
