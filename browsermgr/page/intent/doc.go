// Package intent judges the effects of an action just before it is performed: buying, sending, deleting, disclosing
// personal data. It reads the element, its form, the question it answers and the filled-in values, in thirty languages;
// a control that it cannot read and that may have effects is of the class "unclear".
//
// This is a judgement, not a proof: a page decides what its buttons do. An approval is bound to what was judged: a
// guard in the isolated world judges again when the input arrives, and blocks it if its effects have changed. The guard
// does not restrict scripts of the page. The package asks nobody.
package intent
