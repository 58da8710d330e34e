#include <stdio.h>

struct till {
    int open;
};

int add(int basket, int item)
{
    if (item < 0) {
        return basket;
    }
    return basket + item;
}

static int total(int basket) {
    for (int i = 0; i < 3; i++) {
        basket += i;
    }
    return basket;
}

int refund(int basket) {
    return -basket;
}
