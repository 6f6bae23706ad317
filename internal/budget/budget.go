// Package budget keeps what is spent within limits: for each task, session,
// person and day, server and day, and day, in money, calls of models, steps,
// tokens and minutes.
//
// A [Keeper] stands between those who ask models and the models: what a call may
// cost at most is reserved in one [Ledger] before it is made, together with what
// other calls hold, and replaced by what it did cost after it. It decorates
// [llm.Model], [computeruse.Model] and [sessions.Backend]; neither side knows.
//
// It stores nothing itself, and it knows no vendor: prices are data.
package budget
