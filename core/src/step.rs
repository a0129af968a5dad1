//! Step functions: dividing an increment over time in whole numbers that add up.
