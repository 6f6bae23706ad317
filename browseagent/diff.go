package browseagent

import (
	"fmt"
	"slices"
	"strings"
)

// maxDiffWork bounds the comparison of two page states: lines that differ on one side times lines that differ on the
// other.
const maxDiffWork = 1 << 20

// diffLines returns what turns a into b as a unified diff without context lines, "" if they are equal. ok is false if
// they are too different to be worth comparing.
func diffLines(a, b []string) (diff string, ok bool) {
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	endA, endB := len(a), len(b)
	for endA > start && endB > start && a[endA-1] == b[endB-1] {
		endA, endB = endA-1, endB-1
	}
	midA, midB := a[start:endA], b[start:endB]
	if len(midA)*len(midB) > maxDiffWork {
		return "", false
	}
	common := commonLengths(midA, midB)
	var out strings.Builder
	i, j := 0, 0
	for i < len(midA) || j < len(midB) {
		if i < len(midA) && j < len(midB) && midA[i] == midB[j] {
			i, j = i+1, j+1
			continue
		}
		i0, j0 := i, j
		for i < len(midA) || j < len(midB) {
			if i < len(midA) && j < len(midB) && midA[i] == midB[j] {
				break
			}
			if j == len(midB) || (i < len(midA) && common[i+1][j] >= common[i][j+1]) {
				i++
			} else {
				j++
			}
		}
		writeHunk(&out, start+i0, midA[i0:i], start+j0, midB[j0:j])
	}
	return out.String(), true
}

// commonLengths returns for each pair of positions the length of the longest common subsequence of what follows.
func commonLengths(a, b []string) [][]int32 {
	l := make([][]int32, len(a)+1)
	for i := range l {
		l[i] = make([]int32, len(b)+1)
	}
	for i, la := range slices.Backward(a) {
		for j, lb := range slices.Backward(b) {
			if la == lb {
				l[i][j] = l[i+1][j+1] + 1
			} else {
				l[i][j] = max(l[i+1][j], l[i][j+1])
			}
		}
	}
	return l
}

// writeHunk writes one change. As in every unified diff, an empty side names the line after which the other side
// stands.
func writeHunk(out *strings.Builder, atA int, del []string, atB int, add []string) {
	if len(del) > 0 {
		atA++
	}
	if len(add) > 0 {
		atB++
	}
	fmt.Fprintf(out, "@@ -%d,%d +%d,%d @@\n", atA, len(del), atB, len(add))
	for _, l := range del {
		out.WriteString("-" + l + "\n")
	}
	for _, l := range add {
		out.WriteString("+" + l + "\n")
	}
}
