package server

// WeaknessChecks counts the weaknesses that are looked for.
func WeaknessChecks() int { return len(weaknessChecks) }
