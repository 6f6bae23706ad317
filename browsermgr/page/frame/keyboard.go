package frame

import (
	"slices"

	"github.com/go-rod/rod/lib/proto"
)

// Keyboard knows which keys are held down from one action to the next. Its zero value is one that nobody touches. It is
// not safe for concurrent use.
type Keyboard struct{ down []keyDef }

// ModifierBits returns the modifiers that are held, see [Modifiers].
func (b *Keyboard) ModifierBits() int {
	bits := 0
	for _, k := range b.down {
		bits |= k.modifierBit
	}
	return bits
}

// Down presses the keys of a chord that are not down yet, in order, and keeps them down.
func (b *Keyboard) Down(c Chord) []proto.Request {
	var events []proto.Request
	for _, k := range c.keys() {
		if slices.ContainsFunc(b.down, k.sameKey) {
			continue
		}
		bits := b.ModifierBits()
		events = append(events, k.shifted(bits).press(bits))
		b.down = append(b.down, k)
	}
	return events
}

// Up lets the keys of a chord go, the last first. One that is not down is let go all the same: a page may think it is.
func (b *Keyboard) Up(c Chord) []proto.Request {
	var events []proto.Request
	for _, k := range slices.Backward(c.keys()) {
		b.down = slices.DeleteFunc(b.down, k.sameKey)
		bits := b.ModifierBits()
		events = append(events, k.shifted(bits).event(proto.InputDispatchKeyEventTypeKeyUp, bits, ""))
	}
	return events
}

// keys returns all keys of the chord.
func (c Chord) keys() []keyDef { return append(slices.Clone(c.modifiers), c.key) }

// sameKey reports whether two keys are one on the keyboard.
func (k keyDef) sameKey(o keyDef) bool {
	if k.code == "" {
		return k.name == o.name
	}
	return k.code == o.code
}

// IsIdle reports whether no key is down.
func (b *Keyboard) IsIdle() bool { return len(b.down) == 0 }
