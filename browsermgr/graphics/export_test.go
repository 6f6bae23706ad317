package graphics

// Acceleration is what the tests look at from inside.
var Acceleration = acceleration
