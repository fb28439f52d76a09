package shop;

/** Sells what is in stock. */
public class Shop {
    private final Stock stock;
    private final Orders orders;

    public Shop(Stock stock, Orders orders) {
        this.stock = stock;
        this.orders = orders;
    }

    /** Sells as many pieces as there are, at most the wanted number; gives the number sold. */
    public int sell(String article, int wanted) {
        int count = Math.min(wanted, stock.count(article));
        stock.remove(article, count);
        orders.take(article, count);
        return count;
    }
}
