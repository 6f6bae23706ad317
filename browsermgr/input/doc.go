// Package input says what a keyboard or a mouse sends: it reads the names people give to keys, and builds the events of
// CDP's Input domain. The key layout is that of a US keyboard, with the names of UI Events.
//
// It does not send them, and it does not know where on a page they go.
package input
