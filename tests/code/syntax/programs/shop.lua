local Shop = {}

function Shop.add(basket, item)
  if item == nil then
    return basket
  end
  table.insert(basket, item)
end

function Shop:total()
  local sum = 0
  for _, item in ipairs(self.items) do
    sum = sum + item
  end
  return sum
end

local function refund(basket)
  return -basket.total
end

return Shop
