/** What a passenger of an age pays for the rides of a day, in crowns. */
export const fareOf = (age, rides) => (age <= 6 ? 0 : 3 * rides);
