// Package watchestest is a Store of watches in memory, and the suite that every such Store passes.
package watchestest
