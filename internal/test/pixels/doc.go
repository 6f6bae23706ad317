// Package pixels is a page of targets, so that a point can be followed from a model's picture to the click.
package pixels
