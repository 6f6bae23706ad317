// Package budget keeps spending within limits per task, session, person, server and day, in money, calls, steps,
// tokens and minutes, including speech in calls.
//
// Before a call, its maximum cost is reserved at all five levels in one transaction; afterwards the reservation is
// replaced by the actual cost. So a limit is exceeded by at most the estimate of one call. Reservations left by a
// crash count as spent. A model without a price is refused if money is limited and tokens are not. The package wraps
// models and backends, which do not know about it. It stores nothing itself and knows no vendor.
package budget
