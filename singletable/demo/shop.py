"""A shop: users, their orders and lines, and invoices, with both ways of drawing numbers."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from decimal import Decimal

from singletable import Store
from singletable.demo.entities import Invoice, Order, OrderLine, User
from singletable.demo.reading import Pattern, read
from singletable.demo.scene import Progress, Scene

__all__ = ["INVOICES", "LINES", "ORDERS", "PATTERNS", "USERS", "play", "spans"]

THREADS = 8


def _order(user_id: str, day: str, status: str, total: str) -> Order:
    placed_at = datetime.fromisoformat(f"{day}T09:30:00").replace(tzinfo=UTC)
    return Order(user_id=user_id, status=status, placed_at=placed_at, total=Decimal(total))


USERS = (
    User(user_id="ann", name="Ann Lee", email="ann@example.org"),
    User(user_id="bob", name="Bob Ray"),
    User(user_id="cho", name="Cho Min", email="cho@example.org"),
    User(user_id="dee", name="Dee Fox", email="dee@example.org"),
    User(user_id="eli", name="Eli Orr"),
)

ORDERS = (
    _order("ann", "2026-01-12", "SHIPPED", "59.95"),
    _order("bob", "2026-02-03", "SHIPPED", "12.35"),
    _order("ann", "2026-03-02", "SHIPPED", "118.45"),
    _order("cho", "2026-03-05", "CANCELLED", "31.49"),
    _order("ann", "2026-03-20", "SHIPPED", "7.25"),
    _order("dee", "2026-03-28", "SHIPPED", "240.15"),
    _order("bob", "2026-04-01", "PENDING", "18.55"),
    _order("ann", "2026-04-06", "PENDING", "64.95"),
    _order("cho", "2026-04-07", "PENDING", "99.99"),
    _order("ann", "2026-04-09", "PENDING", "22.15"),
)
"""As they come in: nobody says which number an order has."""

LINES = tuple(
    OrderLine(user_id="ann", order_id=order_id, line_no=line_no, sku=sku, quantity=quantity)
    for order_id, line_no, sku, quantity in (
        (1, 1, "KETTLE", 1),
        (1, 2, "TEA-GREEN", 3),
        (2, 1, "LAMP", 2),
        (2, 2, "BULB-E27", 4),
        (2, 3, "CABLE-2M", 1),
        (3, 1, "TEA-GREEN", 1),
        (4, 1, "BLANKET", 1),
        (5, 1, "MUG-BLUE", 2),
        (5, 2, "MUG-RED", 2),
    )
)

INVOICES = tuple(
    Invoice(user_id=user.user_id, billed_on=date(2026, month, 1)) for month in range(1, 6) for user in USERS
)
"""One a month for everybody; which number each one gets, the threads decide among them."""

PATTERNS = (
    Pattern(
        "A user by e-mail (sparse index: users without an address are not in it)",
        'User.by_email(email="ann@example.org")',
        User.by_email(email="ann@example.org"),
        ("user_id", "name", "email"),
    ),
    Pattern(
        "Ann's three latest orders (their lines stand among them and are read too)",
        'Order.key(user_id="ann").descending().limit(3)',
        Order.key(user_id="ann").descending().limit(3),
        ("order_id", "placed_at", "status", "total"),
    ),
    Pattern(
        "The lines of Ann's order 2 (a child's key is below its parent's)",
        'OrderLine.key(user_id="ann", order_id=2)',
        OrderLine.key(user_id="ann", order_id=2),
        ("line_no", "sku", "quantity"),
    ),
    Pattern(
        "Ann's pending orders, newest first (status and date in one composite key)",
        'Order.pending(user_id="ann")',
        Order.pending(user_id="ann"),
        ("order_id", "placed_at", "status", "total"),
    ),
    Pattern(
        "What was shipped to Ann in March (the same key, one part further)",
        'Order.by_status(user_id="ann", status="SHIPPED").begins_with(placed_at="2026-03")',
        Order.by_status(user_id="ann", status="SHIPPED").begins_with(placed_at="2026-03"),
        ("order_id", "placed_at", "status", "total"),
    ),
    Pattern(
        "Ann's invoices from number 1003 on",
        'Invoice.by_customer(user_id="ann").gte(invoice_no=1003)',
        Invoice.by_customer(user_id="ann").gte(invoice_no=1003),
        ("invoice_no", "billed_on"),
    ),
)


def play(store: Store, progress: Progress) -> Scene:
    """Open the shop: store everything, with numbers drawn, then ask."""
    begun = time.perf_counter()
    store.put_many(USERS)
    orders = list(_created(store, progress))
    store.put_many(LINES)
    invoices = _drawn_together(store, progress)
    seconds = time.perf_counter() - begun
    readings = tuple(read(store, pattern) for pattern in PATTERNS)
    return Scene(
        name="shop",
        title="A shop: users, orders, lines below their order, invoices",
        stored=len(USERS) + len(ORDERS) + len(LINES) + len(INVOICES),
        seconds=seconds,
        facts=(_order_numbers(orders), _invoice_numbers(invoices)),
        readings=readings,
        lesson="One table and one index answer all of it; every query names its partition and one range of sort keys.",
    )


def _created(store: Store, progress: Progress) -> Iterator[Order]:
    for done, order in enumerate(ORDERS, start=1):
        yield store.create(order)
        progress("orders", done, len(ORDERS))


def _drawn_together(store: Store, progress: Progress) -> list[int]:
    """Create the invoices from several threads at once and give the numbers they drew."""

    def drawn(invoice: Invoice) -> int:
        return store.create(invoice).invoice_no

    numbers: list[int] = []
    with ThreadPoolExecutor(THREADS) as threads:
        for number in threads.map(drawn, INVOICES):
            numbers.append(number)
            progress("invoices", len(numbers), len(INVOICES))
    return numbers


def _order_numbers(orders: Sequence[Order]) -> str:
    drawn: dict[str, list[int]] = {}
    for order in orders:
        drawn.setdefault(order.user_id, []).append(order.order_id)
    each = ", ".join(f"{user_id} {spans(numbers)}" for user_id, numbers in drawn.items())
    return f"Order numbers, for each user, by the sort key: {each}."


def _invoice_numbers(numbers: Sequence[int]) -> str:
    each = "each one once" if len(set(numbers)) == len(numbers) else "SOME OF THEM TWICE"
    return f"Invoice numbers, for the table, by a counter: {THREADS} threads drew {spans(numbers)}, {each}."


def spans(numbers: Sequence[int]) -> str:
    """Write numbers as spans.

    >>> spans([3, 1, 2]), spans([7]), spans([1, 2, 5, 9, 8])
    ('1-3', '7', '1-2, 5, 8-9')
    """
    found: list[list[int]] = []
    for number in sorted(set(numbers)):
        if found and number == found[-1][-1] + 1:
            found[-1].append(number)
        else:
            found.append([number])
    return ", ".join(f"{span[0]}-{span[-1]}" if len(span) > 1 else str(span[0]) for span in found)
