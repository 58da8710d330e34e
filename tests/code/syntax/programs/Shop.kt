package shop

class Basket(val owner: String) {
    private val items = mutableListOf<String>()

    fun add(item: String?) {
        if (item == null) {
            return
        }
        items.add(item)
    }

    val size: Int
        get() = items.size

    fun total(): Int {
        return items.sumOf { it.length }
    }
}

fun refund(basket: Basket): Int {
    return -basket.total()
}

fun close(basket: Basket) {
    basket.clear()
}
