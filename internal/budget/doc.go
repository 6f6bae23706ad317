// Package budget keeps what is spent within limits, per task, session, person, server and day, in money,
// calls, steps, tokens and minutes, including hearing and speaking in calls.
//
// Before a call, the most it can cost is reserved at all five levels in one transaction; after it, the
// reservation is replaced by the cost. So a limit is passed by at most the estimate of one call. What died
// with the program counts as reserved. A model without a price is refused where money is limited, unless
// tokens are. It decorates Model, Mind and Backend; neither knows. It stores nothing and knows no vendor.
package budget
