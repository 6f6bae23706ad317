// Package sessions defines the vocabulary of browsing tasks (Task, Step, Session, Question, Tool, Page, Screen,
// Backend, Store) and the Manager, which runs tasks in a fair queue.
//
// A Backend is an iterator of Steps that stops when its consumer stops ranging; internal/test/sessionstest has the
// conformance suite. Each act is yielded before and after it happens, and stored both times. A session runs one task
// at a time and outlives it, also after a stop or a restart. Profile and owner are stored with the session, which
// ends when the profile is withdrawn. A model may hand a task over to another runtime in the same session, at most
// four times. Final states are stored with a detached context. The package knows no model, browser, database or chat
// service.
package sessions
