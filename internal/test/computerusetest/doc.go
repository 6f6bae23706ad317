// Package computerusetest is a browser in memory and a Mind that follows a script, for the loop in computeruse.
package computerusetest
