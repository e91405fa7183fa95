// Why an item was acted on or passed, in words for reviewers; the service has the same codes.

/** What each code means, in words for reviewers. */
export const CODES = {
  EXPLOIT: "A look is expected to pay.",
  EXPLORE: "Chosen to learn from: the expected cost alone says pass.",
  AUDIT: "An audit, to find out what is missed.",
  ENACTED: "Somebody acted, whatever was decided.",
  CAPACITY: "Passed: the reviews go to items that are worth more.",
  RANDOM: "Passed by the draw.",
  PASS: "Passed: a look is not expected to pay.",
  SAFE: "Decided in safe mode, by a fixed action.",
};
