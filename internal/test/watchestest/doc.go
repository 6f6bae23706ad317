// Package watchestest is the suite that every Store of watches passes.
package watchestest
