"""What crashes, pauses and lost answers may not break, in the forms that every run can afford."""
