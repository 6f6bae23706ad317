// Package computeruse is the backend in which a model looks at pictures of the screen and answers with mouse and
// keyboard.
//
// There is one loop, in pixels of the picture that was sent: look, ask, act, look again. Positions are clamped and
// scaled in one place, keys have one table. Each vendor's model is a Mind in a package below, which brings the vendor's
// grid, key names and batches to this form and back. What was typed into password fields is removed from texts and from
// kept conversations. A vendor's warning is put to a person; no answer is a no. Models that work a page by its elements
// belong in browseagent.
package computeruse
