// Package load is what many people at once need who browse without end: a site, a model that works its form, what their
// processes take of the machine, and the floors of rod and playwright-core, which do the same without clank.
package load
