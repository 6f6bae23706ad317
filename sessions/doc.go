// Package sessions is the vocabulary of a browse and its life cycle: Task, Step, Session, Question, Page,
// Tool, Page, Screen, Backend, Store and the Manager that runs tasks in a fair queue.
//
// A backend is an iterator of Steps and stops when its consumer stops ranging; the suite in
// internal/test/sessionstest is the definition. Each act is yielded before and after, and both are written
// down. A session is worked by one task at a time and outlives it, also after a stop or a restart. Profile
// and owner are written down with the session, which ends when the profile is taken away. A model may hand
// a task over to another runtime in the same session, at most four times. End states are written with a
// detached context. It knows no model, browser, database or chat service.
package sessions
