// Package widgets tests snapshots and actions on pages of component libraries that others wrote. Each page has a task, which
// a policy solves that reads nothing but snapshots and names what it acts on by ref. The page's own state says whether it did.
//
// A file of testdata holds the pages of a library: what it imports and how it mounts, then for each page a line "//== name",
// its steps ("//do"), what must be true in the end but not before ("//is", JavaScript), and the body of a function that makes
// the page. What that returns is mounted. A page without steps is there for the frames of others. See [policy.do] for the steps.
package widgets
