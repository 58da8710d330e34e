defmodule Shop.Basket do
  @moduledoc "Baskets."

  def add(basket, item) do
    case item do
      nil -> basket
      _ -> [item | basket]
    end
  end

  defp log(item) do
    Enum.each(item, fn x ->
      IO.puts(x)
    end)
  end

  def total(basket) do
    Enum.sum(basket)
  end
end

defmodule Shop.Till do
  def open(till) do
    till.open
  end

  def shut(till) do
    till.shut
  end
end
