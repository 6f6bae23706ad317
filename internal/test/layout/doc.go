// Package layout holds no code: its tests check that every package imports only
// what the table in layout_test.go allows, and that each outside library stays
// behind its wall.
package layout
