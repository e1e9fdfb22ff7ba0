// HELPER D: the lead overwrote this file of yours by mistake at 05:46. Write your version of config-section.ts again as you had it.
