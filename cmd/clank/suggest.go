package main

import "strings"

// didYouMean names the known word that is closest to one that is not known, as the end of a message; "" if none is close.
func didYouMean(word string, known []string) string {
	best, least := "", max(2, len(word)/4)
	for _, k := range known {
		if strings.HasSuffix(k, strings.TrimLeft(word, "-")) && len(word) > 3 {
			best = k
			break
		}
		if d := editDistance(word, k); d <= least {
			best, least = k, d-1
		}
	}
	if best == "" || word == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}

// editDistance is how many letters must be put in, taken out or exchanged to make b of a.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j]+1, row[j+1]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
