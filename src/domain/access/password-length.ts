/** How long a password may be, in characters; apart, since declarations say it too. */
export const SHORTEST_PASSWORD = 12;
export const LONGEST_PASSWORD = 1000;
