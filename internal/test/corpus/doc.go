// Package corpus holds tasks to run with every backend: sites, steps, and expected results, with scripted models that
// perform the steps. This tests everything between the model's answers and the page.
package corpus
