using System;

namespace Shop
{
    public class Basket
    {
        private int count;

        public void Add(string item)
        {
            if (item == null)
            {
                return;
            }
            count += 1;
        }

        public int Total()
        {
            return count * 2;
        }
    }

    public class Till
    {
        public void Open()
        {
            Ring("open");
        }

        public void Shut()
        {
            Ring("shut");
        }
    }
}
