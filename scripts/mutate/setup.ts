import fc from "fast-check";

// The title of a property has its seed in it, and StrykerJS finds the tests that cover a mutant by their titles.
fc.configureGlobal({ seed: 1 });
