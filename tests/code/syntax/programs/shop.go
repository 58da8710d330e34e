package shop

type Basket struct {
	items []int
}

func (b *Basket) Add(item int) {
	if item == 0 {
		return
	}
	b.items = append(b.items, item)
}

func (b *Basket) Total() int {
	sum := 0
	for _, item := range b.items {
		sum += item
	}
	return sum
}

func Refund(b *Basket) int {
	return -b.Total()
}
