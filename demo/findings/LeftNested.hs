-- | Lines that are appended to all lines before, which nests the appends to the left, or collected in a list.
--
-- > LeftNested nested    each line is appended to what there is
-- > LeftNested list      all lines are joined once
module Main (main) where

import Data.List (foldl')
import System.Environment (getArgs)

main :: IO ()
main = do
  [how] <- getArgs
  let join = if how == "nested" then foldl' (\text line -> text ++ line) "" else concat
      table batch = join [show (batch * row) ++ "\n" | row <- [1 .. 2600 :: Int]]
  print (sum (map (length . table) [1]))
