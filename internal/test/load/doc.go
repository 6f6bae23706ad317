// Package load provides what load tests need: a site, a model that fills in its form, resource usage of processes,
// and baselines with rod and playwright-core, which do the same without clank.
package load
