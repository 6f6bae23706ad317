// Package computeruse is the backend in which a model looks at pictures of the screen and acts with mouse and keyboard.
//
// There is one loop, in pixels of the picture that was sent: look, ask, act, look again. Points are clamped and scaled
// in one place, and there is one table of keys. Each vendor's Model, in a package below, converts the vendor's grid,
// key names and batches to this form and back. What was typed into password fields is removed from texts and from
// stored conversations. A vendor's safety warning is shown to a person; no answer means no. Models that work with the
// elements of a page belong in browseagent.
package computeruse
