// Package intent judges what an action would set off, just before it is done: buying, sending, deleting,
// personal data. It reads the element, its form, the question it answers and what was filled in, in thirty languages; a control that
// it cannot read and that may do something is of the class "unclear".
//
// It is a judgement, not a proof: a page decides what its buttons do. An answer of people is bound to what
// was judged: a guard in the isolated world judges once more when the input arrives, and swallows it if it
// means something else. Scripts of the page are not held by the guard. The package asks nobody.
package intent
