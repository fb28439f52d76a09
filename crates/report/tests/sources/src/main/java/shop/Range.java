package shop;

/** Two bounds that must stay in order. */
public class Range {
	private int low = 0;
	private int high = 10;

	public void set(int low, int high) {
		synchronized (this) {
			this.low = low;
		}
		synchronized (this) {
			this.high = high;
		}
	}

	public synchronized boolean contains(int value) {
		return low <= value
			&& value <= high;
	}
}
