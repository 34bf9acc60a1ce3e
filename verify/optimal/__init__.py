"""What proves the optimum beside a cover: balls, leaders, multipliers."""
