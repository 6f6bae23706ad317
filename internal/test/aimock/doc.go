// Package aimock is tests of our model clients against a server of vendors' protocols that nobody here wrote.
package aimock
