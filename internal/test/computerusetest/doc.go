// Package computerusetest provides an in-memory browser and a scripted model for the loop in package computeruse.
package computerusetest
