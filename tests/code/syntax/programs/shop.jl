using Dates

function add(basket, item)
    if item === nothing
        return basket
    end
    push!(basket, item)
end

struct Till
    drawer::Int
    name::String
end

function total(basket)
    result = 0
    for item in basket
        result += item
    end
    result
end

function refund(basket)
    map(basket) do item
        -item
    end
end

double(x) = 2x

function close(till)
    till.drawer = 0
end
