// Package widgets tests snapshots and actions on pages of third-party component libraries, and of the patterns of the
// ARIA Authoring Practices that these lack. Each page has a task, solved by a policy that reads only snapshots and
// refers to elements by ref. The page's own state shows whether it succeeded.
//
// A file of testdata holds the pages of a library: its imports and how it mounts, then for each page a line "//==
// name", what a person would write to have its task done ("//say"), its steps ("//do"), a condition that must be false
// before and true afterwards ("//is", JavaScript), and the body of a function whose result is mounted. A page without
// steps is used in frames of others. See [policy.do] for the steps. The built-in model does what is said.
package widgets
