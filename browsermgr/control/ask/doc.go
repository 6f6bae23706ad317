// Package ask has people decide what requests set off that are made on behalf of a model: buying, sending, deleting,
// scripts, files. Such requests say so by the header X-Clank-Ask, whose value names those who are asked; requests without
// it are a person's own, and ask nobody.
//
// It does not know who is asked, nor how: see [Consent].
package ask
