/** Limits of the length of a password, in characters. Apart from `passwords.ts`, so that the contract can import them. */
export const SHORTEST_PASSWORD = 12;
export const LONGEST_PASSWORD = 1000;
