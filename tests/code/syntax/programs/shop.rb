require "set"

module Shop
  class Basket
    def initialize(owner)
      @owner = owner
      @items = []
    end

    def add(item, count: 1)
      return if count.zero?
      @items << item unless item.nil?
      count.times do |n|
        log(n)
      end
    end

    def total = @items.sum

    scope :large, -> { where("total > 9") }

    def price
      value = if @items.empty?
        0
      else
        @items.sum
      end
      value
    end
  end
end

def checkout(basket)
  while basket.open?
    basket.close
  end
end

def refund(basket)
  basket.price * -1
end
